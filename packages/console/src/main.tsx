import './design/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { followPreferences } from './api/preferences.ts';
import { queryClient } from './api/query-client.ts';
import { router } from './router.tsx';
import { Notices } from './ui/notices.tsx';
import { listenToShortcuts } from './ui/shortcuts.ts';

const place = document.getElementById('app');
if (!place) throw new Error('The page has no place for the console');
listenToShortcuts();

followPreferences();

createRoot(place).render(
  <CSPProvider disableStyleElements>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Notices />
    </QueryClientProvider>
  </CSPProvider>,
);
