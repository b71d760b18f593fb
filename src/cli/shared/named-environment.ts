import type { Command } from 'commander';
import { HandbillError, problem, refuse } from '../../errors.ts';
import type { Project } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';

/** Commands that need no project. */
const WITHOUT: ReadonlySet<string> = new Set(['init', 'sandbox', 'completion', 'help', 'approve']);

/**
 * Throws exit 2 (`unknown-environment`) for an unknown name in HANDBILL_ENV before a command does anything, also one
 * without `--env`. `--env` and a plan file count more than the variable.
 */
export async function refuseUnknownEnvironment(command: Command, { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>) {
  const named = env['HANDBILL_ENV'] ?? '';
  if (named === '' || WITHOUT.has(topOf(command).name())) return;
  const option = command.options.find(({ long }) => long === '--env')?.attributeName() ?? 'env';
  if (command.getOptionValueSource(option) === 'cli' || command.getOptionValue('plan') !== undefined) return;
  const project = await projectOf(cwd);
  if (project === null || project.environments.size < 2 || project.environments.has(named)) return;
  const { didYouMean } = await import('../../util/suggest.ts');
  const known = [...project.environments.keys()];
  const hint = didYouMean(named, known).hint ?? `Known here: ${known.join(', ')}.`;
  const message = `There is no environment "${named}", which HANDBILL_ENV names.`;
  throw refuse(problem('unknown-environment', message, { at: { file: project.file ?? 'handbill.yaml' }, hint }));
}

/** Their names; empty where there is no project, or a wrong one. */
export async function environmentsHere(cwd: string): Promise<readonly string[]> {
  return [...((await projectOf(cwd))?.environments.keys() ?? [])];
}

/** The project of a folder; null: there is none here, or the command says what is wrong with it. */
async function projectOf(cwd: string): Promise<Project | null> {
  const { findProject } = await import('../../campaign/place.ts');
  const { readProject } = await import('../../campaign/project.ts');
  try {
    const { project, diagnostics } = await readProject(await findProject(cwd), { cwd });
    return diagnostics.every(({ severity }) => severity !== 'error') ? project : null;
  } catch (error) {
    if (error instanceof HandbillError) return null;
    throw error;
  }
}

/** `suppress` of `suppress list`. */
function topOf(command: Command): Command {
  const { parent } = command;
  return parent === null || parent.parent === null ? command : topOf(parent);
}
