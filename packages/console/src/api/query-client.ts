import { AuthenticationError } from '@sluice/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

/** Where the sign-in pages find the return address, in `sessionStorage`. */
const wayBack = 'back';

/** Goes to the sign-in page, which leads back here. */
export function leaveToSignIn(): void {
  sessionStorage.setItem(wayBack, location.pathname + location.search + location.hash);
  location.assign('/sign-in');
}

/** A sign-in can end at any time: it expires, its member is removed, somebody ends it. */
function onError(error: Error): void {
  if (error instanceof AuthenticationError) leaveToSignIn();
}

/** Does not retry, because the client library does. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: { queries: { retry: false, staleTime: 2_000 }, mutations: { retry: false } },
});
