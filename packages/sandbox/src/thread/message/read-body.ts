import { formToJson } from './form.ts';
import type { TransformMessage, UnreadableReason } from './transform-message.ts';

/**
 * The body as JSON text: JSON as it is, which QuickJS reads, a form as an object, other text as a string, `{}` where
 * there is none.
 */
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
  // A text ends at its first NUL when it crosses into QuickJS: what stands behind would go unseen.
  return text.includes('\0') ? { unreadable: 'not_json' } : { json: text };
}
