/**
 * Of version 6: a recipient whose address was corrected in the list after the message had gone out.
 *
 * - `list_address` is what the list says now, where it differs from the address that the message went to (`--amend`
 *   writes it). The partial index holds these rows alone, and no send touches it.
 * - `resend` counts the messages that went to earlier addresses of the same recipient; null: none. What became of each is
 *   in `resolutions`, as `resend-changed`. The trigger lets an accepted row go back to `pending` only with such an entry
 *   about that very message, and only to an address that the recipient was not sent to before. The claim asks once more.
 */
export const CORRECTED_ADDRESSES: readonly string[] = [
  'ALTER TABLE recipients ADD COLUMN list_address TEXT',
  'ALTER TABLE recipients ADD COLUMN resend INTEGER',
  'CREATE INDEX recipients_changed ON recipients (list, leg, row) WHERE list_address IS NOT NULL',
  'DROP TRIGGER recipients_move',
  `CREATE TRIGGER recipients_move AFTER UPDATE OF state, reason ON recipients
WHEN NOT CASE OLD.state
    WHEN 'pending' THEN (NEW.state = 'claimed' AND NEW.resolved_by IS NULL AND (NEW.leg = 0
        OR EXISTS (SELECT 1 FROM recipients AS former WHERE former.list = NEW.list AND former.leg = NEW.leg - 1
        AND former.row = NEW.row AND former.key = NEW.key AND former.state = 'rejected' AND former.reason = 'fell-back'))
        AND (NEW.resend IS NULL OR NOT EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.resolved_by = 'resend-changed'
        AND resolutions.address = NEW.address)))
      OR NEW.state = 'pending'
      OR NEW.state = 'skipped' OR NEW.state = 'deferred' OR NEW.state = 'failed'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend'
        AND (NEW.resolved_by IS 'late-result' OR NEW.resolved_by IS 'report'))
    WHEN 'claimed' THEN NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back')
      OR NEW.state = 'in-doubt' OR NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'failed' THEN NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'deferred' THEN NEW.state = 'deferred' OR NEW.state = 'pending' OR NEW.state = 'skipped'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend'
        AND (NEW.resolved_by IS 'late-result' OR NEW.resolved_by IS 'report'))
    WHEN 'rejected' THEN (NEW.state = 'rejected' AND (NEW.reason IS 'fell-back') = (OLD.reason IS 'fell-back'))
      OR (NEW.state = 'pending' AND NEW.resolved_by IS 'retry-rejected' AND OLD.reason IS NOT 'fell-back')
    WHEN 'in-doubt' THEN NEW.state = 'in-doubt' OR (NEW.resolved_by IS NOT NULL
      AND (NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back') OR NEW.state = 'pending')
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts))
    WHEN 'accepted' THEN NEW.state = 'accepted' OR (NEW.state = 'pending' AND NEW.resolved_by IS 'resend-changed'
      AND NEW.address IS NOT NULL AND NEW.address IS NOT OLD.address AND NEW.resend IS coalesce(OLD.resend, 0) + 1
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts AND resolutions.resolved_by = 'resend-changed'
        AND resolutions.address IS OLD.address)
      AND NOT EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.address = NEW.address))
    ELSE NEW.state = OLD.state
  END
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = NEW.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not move between these states')
    WHERE NEW.state <> 'rejected' OR NOT (OLD.state = 'claimed'
      OR (OLD.state = 'accepted' AND NEW.reason IS 'fell-back' AND NEW.resolved_by IS 'report'));
  INSERT INTO recipients (list, leg, row, line, key, state)
    VALUES (NEW.list, NEW.leg + 1, NEW.row, NEW.line, NEW.key, 'pending');
END`,
];
