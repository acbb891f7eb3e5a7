import type { Changeable } from '../types.ts';

/** The content of a frame. */
export interface Content {
  focus(): void;
  clear(): void;
  update(changes: Changeable): void;
}
