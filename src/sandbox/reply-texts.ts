/** What people write, drawn from by chance. None but those of the first list opts out. */

/**
 * Ways to say STOP: words that carriers and regulators name, as people type them. Spaces, punctuation, full-width
 * letters, accents and characters that nobody sees are theirs.
 */
export const STOP_TEXTS: readonly [string, ...string[]] = [
  'STOP',
  'stop',
  ' Stop. ',
  'Stop!!',
  '"STOP"',
  '«Stop»',
  'ＳＴＯＰ',
  'STOP\u200b',
  'STOPALL',
  'UNSUBSCRIBE',
  'Quit',
  'end',
  'Cancel',
  'REVOKE',
  'opt-out',
  'Opt out',
  'ARRET',
  'arrêt',
  'STOPP',
  'Abmelden',
  'BAJA',
  'Cancelar',
  'SAIR',
  'ANNULLA',
  'AFMELDEN',
  'AVSLUTA',
  'ZATRZYMAJ',
  'ОСТАНОВИТЬ',
];

export const START_TEXTS: readonly [string, ...string[]] = ['START', 'start.', 'UNSTOP'];

export const ORDINARY_TEXTS: readonly [string, ...string[]] = [
  'Thanks!',
  'See you on Tuesday',
  'Who is this?',
  'Ja, passt',
  'Merci beaucoup',
  'What time do you close?',
  '👍',
  'Yes',
];

/** Answers to a survey. */
export const SURVEY_TEXTS: readonly [string, ...string[]] = ['1', '2', '3', '4', '5', '10', '9/10', 'A', 'b'];
