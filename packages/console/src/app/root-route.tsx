import { AuthenticationError } from '@sluice/sdk';
import { createRootRoute } from '@tanstack/react-router';
import { meQuery } from '../api/me.ts';
import { queryClient } from '../api/query-client.ts';
import { LinkButton } from '../ui/button.tsx';
import { Page } from '../ui/layout.tsx';
import { Empty, Failed } from '../ui/states.tsx';
import { Frame, PendingFrame } from './frame.tsx';

/** All screens are inside the frame. What it shows of the person comes once it is known who is signed in. */
export const rootRoute = createRootRoute({
  loader: loadMe,
  component: Frame,
  pendingComponent: PendingFrame,
  pendingMs: 0,
  errorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  notFoundComponent: () => (
    <Page title="Nothing here">
      <Empty
        icon="search"
        title="The console does not have this page"
        acts={<LinkButton to="/">Go to the overview</LinkButton>}
      >
        The address may be wrong, or from another version of the console.
      </Empty>
    </Page>
  ),
});

async function loadMe(): Promise<void> {
  try {
    await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    await new Promise(() => {}); // nothing more is shown, because the page is on the way to the sign-in
  }
}
