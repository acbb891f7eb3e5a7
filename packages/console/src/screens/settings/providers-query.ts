import { queryOptions } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';

/** Identity providers of the installation, where people can sign in. */
export const providersQuery = queryOptions({
  queryKey: ['sign-in-providers'],
  queryFn: ({ signal }) => sluice.console.signInProviders({ signal }).toArray(),
});
