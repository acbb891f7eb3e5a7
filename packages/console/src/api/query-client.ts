import { AuthenticationError } from '@sluice/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { onSignInEnded } from './sign-in.ts';

/** A sign-in can end at any time: it expires, its member is removed, somebody ends it. */
function onError(error: Error): void {
  if (error instanceof AuthenticationError) onSignInEnded();
}

/** Does not retry, because the client library does. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: { queries: { retry: false, staleTime: 2_000 }, mutations: { retry: false } },
});
