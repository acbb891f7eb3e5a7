import { ServiceError } from '@sluice/problems';

/** Undefined for a refusal, because its text would reveal what exists. */
export async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}
