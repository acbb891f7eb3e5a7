import { createRouter } from '@tanstack/react-router';
import { rootRoute } from './app/root-route.tsx';
import { routes } from './screens.ts';
import { Failed, Loading } from './ui/states.tsx';

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  // Soon enough that a click on a slow line is seen to do something.
  defaultPendingMs: 150,
  defaultPendingMinMs: 0,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
