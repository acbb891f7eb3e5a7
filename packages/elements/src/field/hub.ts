import type { Start } from '../protocol.ts';
import type { Content } from './content.ts';
import { offer } from './siblings.ts';

/** A frame in the document itself, at which the frames in a shadow root find each other. It shows nothing. */
export function open({ group, id }: Start): Content {
  offer(group, id);
  return { focus: () => {}, clear: () => {}, update: () => {} };
}
