import type { MemoryPart } from '@sluice/body-bytes';
import { type Pieces, WorkPieces } from '@sluice/service-runtime';

const workPieces = new WorkPieces(queueMicrotask);

/** For a stream without other Tenants beside it, whose memory nobody limits. */
export const alone = {
  look: () => undefined,
  run: <T>(work: Pieces<T>) => workPieces.run('a Tenant', work),
  reserve: (): MemoryPart => countedRoom(() => {}),
};

/** Tells of each change by how many bytes the reservation grew. */
export function countedRoom(onGrowth: (bytes: number) => void): MemoryPart {
  let bytes = 0;
  const change = (to: number) => {
    onGrowth(to - bytes);
    bytes = to;
    return undefined;
  };
  return {
    get bytes() {
      return bytes;
    },
    grow: (more) => change(bytes + Math.max(more, 0)),
    growTo: (most) => change(Math.max(bytes, most)),
    shrinkTo: (most) => change(Math.min(bytes, most)),
    release: () => change(0),
  };
}
