import { newWorkPieces, type Pieces } from '@sluice/service-runtime';

const workPieces = newWorkPieces(queueMicrotask);

/** For a stream without other Tenants beside it. */
export const alone = { run: <T>(work: Pieces<T>) => workPieces.run('a Tenant', work) };
