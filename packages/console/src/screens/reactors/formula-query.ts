import { queryOptions } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';

export const formulaQuery = (id: string) =>
  queryOptions({
    queryKey: ['formulas', id],
    queryFn: ({ signal }) => sluice.reactorFormulas.get(id, { signal }),
  });
