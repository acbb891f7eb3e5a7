import { ServiceError } from '@sluice/problems';

const foreignKeyViolation = '23503';

/** @throws {ServiceError} `unauthenticated` if the row refers to something that was deleted since the check. */
export async function refuseWhatIsGone<T>(statement: Promise<T>, detail: string): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === foreignKeyViolation)) throw error;
    throw new ServiceError('unauthenticated', detail);
  }
}
