import { formToJson } from './form.ts';
import type { TransformMessage, UnreadableReason } from './transform-message.ts';

/** As JSON text: JSON stays, because QuickJS reads it; a form becomes an object, other text a string, no body `{}`. */
export function readBody({
  text,
  kind,
  limits,
}: TransformMessage): { json: string } | { unreadable: UnreadableReason } {
  if (text === '') return { json: '{}' };
  if (kind === 'text') return { json: JSON.stringify(text) };
  if (kind === 'form') {
    const json = formToJson(text, limits.formPairs);
    return json === undefined ? { unreadable: 'too_many_pairs' } : { json };
  }
  // A text that crosses into QuickJS ends at its first NUL, so the rest would go unseen.
  return text.includes('\0') ? { unreadable: 'not_json' } : { json: text };
}
