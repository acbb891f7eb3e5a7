import type { FromFrame, Patch, Tokenize } from '../protocol.ts';
import type { Changeable } from '../types.ts';

/** The content of a frame. */
export interface Content {
  focus(): void;
  clear(): void;
  update(changes: Changeable): void;
  /** Absent where nothing is typed. */
  send?(message: Tokenize | Patch): Promise<FromFrame>;
}
