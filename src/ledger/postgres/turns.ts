import { toPostgres } from './dialect.ts';

/** As in a run of its own (run/pace.ts). */
export const CATCH_UP_MS = 20;

/** When the next turns of this name are, in ms from now, and for how long nobody takes any. */
export const TAKE_TURNS =
  toPostgres(`INSERT INTO turns AS t (name, next_at) VALUES (?1, now_ms() + ?2::bigint * ?3::double precision)
  ON CONFLICT (name) DO UPDATE
  SET next_at = greatest(t.next_at, now_ms() - ?4::double precision, t.held_until) + ?2::bigint * ?3::double precision
  RETURNING next_at - ?2::bigint * ?3::double precision - now_ms(), held_until - now_ms()`);

export const HOLD_TURNS =
  toPostgres(`INSERT INTO turns AS t (name, next_at, held_until) VALUES (?1, 0, now_ms() + ?2::double precision)
  ON CONFLICT (name) DO UPDATE SET held_until = greatest(t.held_until, now_ms() + ?2::double precision) RETURNING 1`);
