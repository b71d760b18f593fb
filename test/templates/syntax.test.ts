import { golden } from '../helpers/golden.ts';
import { findings } from './harness.ts';

golden('what is no template is refused at its place, with what to write', 'templates/syntax', (text) =>
  findings(text, ['a', 'b']),
);
