/** Why one row cannot be rendered: a value that the template needs is missing, or cannot be read. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly reason: 'missing-variable' | 'render-error';

  constructor(message: string, reason: 'missing-variable' | 'render-error' = 'render-error') {
    super(message);
    this.reason = reason;
  }
}

/** A cell's value for a message: quoted, and cut so that it cannot fill the screen. */
export function quoted(value: string): string {
  const cut = value.length > 40 ? `${value.slice(0, 40)}…` : value;
  return JSON.stringify(cut);
}
