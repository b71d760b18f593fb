import { edit, type Mutant, mutant, type Proof } from './mutant.ts';

const RULED = 'src/http/ruled.ts';

const histories = (provider: string): Proof => ({ in: 'simulate/providers.test.ts', only: `histories of ${provider}` });
const two = (only: string): Proof => ({ in: 'e2e/two-providers.test.ts', only });

/** Providers with rules for their answers, and two of them for the same people. */
export const RULED_ANSWERS: readonly Mutant[] = [
  mutant('rules-ignored-in-a-2xx', {
    planted: 'the rules of a provider do not apply to a 200 that says no',
    file: RULED,
    was: 'if (rules.length === 0 || attempt.status === null ||',
    is: 'if (rules.length === 0 || attempt.status === null || attempt.status < 300 ||',
    proof: histories('infobip'),
  }),
  mutant('entry-of-another-counted', {
    planted: 'entries count by their place in the list, and not by the recipient that they name',
    file: RULED,
    was: 'for (const one of position === null ? directory.byAddress(entry) : [position]) own[one]?.push(entry);',
    is: 'if (position !== null || directory.byAddress(entry).length > 0) own.find((o) => o.length === 0)?.push(entry);',
    proof: histories('infobip'),
  }),
  mutant('entries-that-disagree-believed', {
    planted: 'of two entries of one recipient that disagree the first counts',
    file: RULED,
    was: "return rest.every((word) => word === first) ? first : 'doubt';",
    is: 'return rest.length < 9 ? first : null;',
    proof: histories('infobip'),
  }),
  mutant('id-of-another-entry', {
    planted: 'a recipient whose entry has no id gets that of the first entry',
    file: 'src/http/answer.ts',
    was: 'isShared ? wire.pointers.ofRequest.messageId : wire.pointers.messageId);',
    is: 'isShared ? wire.pointers.messageId : wire.pointers.messageId);',
    proof: { in: 'providers/traps.test.ts', only: 'none gets the id of another' },
  }),
  mutant('left-out-of-a-list-taken', {
    planted: 'a recipient that a list leaves out is taken where the answer as a whole has a good word',
    edits: [
      { file: RULED, was: "whole === null || (whole === 'accepted' && lists.flat().length > 0)", is: 'whole === null' },
    ],
    proof: { in: 'providers/traps.test.ts', only: 'one that the list leaves out' },
  }),
  mutant('stop-refuses-the-recipient', {
    planted: 'a provider that refuses the account refuses the recipient',
    file: RULED,
    was: "return verdict('pending', 'not-authorised', { halt: 'not-authorised', error, says: error ?? '' });",
    is: "return verdict('rejected', 'refused', { halt: 'not-authorised', error, says: error ?? '' });",
    proof: histories('infobip'),
  }),
  mutant('accepted-without-an-id', {
    planted: 'a good word is enough where the provider always gives an id',
    ...edit(RULED, 'if (messageId !== null || !wire.response.messageIdRequired)', 'if (wire.rules.length > 0)'),
    proof: { in: 'providers/answers.test.ts', only: 'a 201 without an id' },
  }),
  mutant('opt-out-of-an-answer-forgotten', {
    planted: 'a recipient who opted out at the provider can be sent to again',
    ...edit('src/send/deliver.ts', ', optOut: { to: message.to, topic } });', ' });'),
    proof: two('an opt-out that only the other knows'),
  }),
  mutant('reference-not-written', {
    planted: 'a provider that takes letters and digits alone gets an empty reference',
    file: 'src/plan/expand.ts',
    was: '(alphanumericReference ? spelled(reference) : reference);',
    is: "(alphanumericReference ? '' : reference);",
    proof: histories('twilio'),
  }),
  mutant('reference-of-a-report-not-read-back', {
    planted: 'a reference in letters and digits is no longer recognised when it comes back',
    file: 'src/operations/project.ts',
    was: 'provider.alphanumericReference ? unspelled :',
    is: 'provider.name === unspelled.name ? unspelled :',
    proof: two('leaves a doubt of Twilio a doubt'),
  }),
  mutant('reference-shown-as-of-the-original', {
    planted:
      'the reference of a message is shown in the letters of the environment of the run, also where a stand-in posted it',
    file: 'src/operations/report.ts',
    was: 'environments.get(postedFrom)?.provider',
    is: 'environments.get(postedFrom === run.environment ? postedFrom : run.environment)?.provider',
    proof: two('reaches each recipient once'),
  }),
  mutant('stand-in-takes-no-smaller-requests', {
    planted: 'a stand-in whose provider takes fewer recipients in a request refuses the campaign',
    file: 'src/plan/provider-check.ts',
    was: 'recipients && environment.name === environment.identity) {',
    is: 'recipients) {',
    proof: two('goes on at Twilio'),
  }),
];
