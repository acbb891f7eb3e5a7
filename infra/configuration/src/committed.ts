import { describeSettings } from './reference.ts';
import { schemas } from './schemas.ts';

/** The committed reference. */
export const committedFile = new URL('../REFERENCE.md', import.meta.url);

/** The text that the committed file must have. */
export function currentText(): string {
  return describeSettings(schemas);
}
