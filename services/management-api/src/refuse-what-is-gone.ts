import { ServiceError } from '@sluice/problems';

const foreignKeyViolation = '23503';

/** @throws {ServiceError} `unauthenticated` where the row refers to something that was deleted since it was checked. */
export async function refuseWhatIsGone<T>(statement: Promise<T>, detail: string): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === foreignKeyViolation)) throw error;
    throw new ServiceError('unauthenticated', detail);
  }
}
