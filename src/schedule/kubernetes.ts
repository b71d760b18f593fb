import { stringify } from 'yaml';
import { type Caller, type CallerFile, CONTROL, jobName, refuseUnquotable, stopSeconds } from './caller.ts';

export interface KubernetesOptions {
  /** Holds the project and handbill in its node_modules. */
  readonly image: string;
  /** The project's root in the image. */
  readonly folder: string;
  /** A ledger on a database server, whose address is a secret; else it lies on a volume. */
  readonly onServer: boolean;
}

/** Nothing but this container keeps it: a pod loses its disk, and with it the record of who was sent to. */
const VOLUME_FOLDER = '/var/lib/handbill';
/** A folder of its own: the volume's root is open to its group, and such a ledger is refused. */
const LEDGER = `${VOLUME_FOLDER}/ledger/ledger.db`;

/** A CronJob, and the volume of its ledger. */
export function kubernetes(caller: Caller, options: KubernetesOptions): readonly CallerFile[] {
  const { environment, secrets, args } = caller;
  refuseUnquotable([options.image, options.folder, ...args], 'A manifest', CONTROL);
  const name = jobName(environment);
  const documents = [...(options.onServer ? [] : [claim(name)]), cronJob(name, caller, options)];
  const keys = [...secrets, ...(options.onServer ? ['HANDBILL_LEDGER'] : [])];
  const comment = [
    '# handbill sends what is due, each occurrence once. A pod that is run twice or killed sends no message twice,',
    '# because the ledger outlives it.',
    ...(options.onServer
      ? []
      : ['# The volume must be a disk, not a network file system: locks cannot be trusted there.']),
    ...(keys.length === 0 ? [] : [`# Needs the secret "${SECRET}" with ${keys.join(', ')}.`]),
  ];
  const text = documents.map((document) => stringify(document, { lineWidth: 0 })).join('---\n');
  return [{ name: `${name}.yaml`, text: `${comment.join('\n')}\n${text}` }];
}

const SECRET = 'handbill';

function claim(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: `${name}-ledger` },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}

function cronJob(name: string, caller: Caller, options: KubernetesOptions): object {
  const { everyMinutes, timeoutMs } = caller;
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name },
    spec: {
      schedule: everyMinutes === 1 ? '* * * * *' : `*/${everyMinutes} * * * *`,
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      // After more than 100 missed starts a CronJob without this never starts again.
      startingDeadlineSeconds: everyMinutes * 60 - 10,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 5,
      jobTemplate: {
        spec: {
          // The next call continues what this one left; a second pod at once would only say the same again.
          backoffLimit: 0,
          template: {
            spec: {
              restartPolicy: 'Never',
              terminationGracePeriodSeconds: stopSeconds(timeoutMs),
              securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
              containers: [container(caller, options)],
              ...(options.onServer
                ? {}
                : { volumes: [{ name: 'ledger', persistentVolumeClaim: { claimName: `${name}-ledger` } }] }),
            },
          },
        },
      },
    },
  };
}

function container({ args, secrets }: Caller, { image, folder, onServer }: KubernetesOptions): object {
  const keys = [...secrets, ...(onServer ? ['HANDBILL_LEDGER'] : [])];
  return {
    name: 'handbill',
    image,
    workingDir: folder,
    command: ['node_modules/.bin/handbill'],
    // $(NAME) would be the value of a variable.
    args: [...args, ...(onServer ? [] : ['--ledger', LEDGER])].map((arg) => arg.replaceAll('$(', '$$(')),
    ...(keys.length === 0
      ? {}
      : { env: keys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: SECRET, key } } })) }),
    ...(onServer ? {} : { volumeMounts: [{ name: 'ledger', mountPath: VOLUME_FOLDER }] }),
  };
}
