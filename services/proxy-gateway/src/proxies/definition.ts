import type { ProxyColumns } from '@sluice/database';
import type { Selectable } from 'kysely';
import type { DestinationUrl } from '../destination/index.ts';

/** A Proxy as the gateway needs it: its columns, under our names. Secrets stay encrypted until they are needed. */
export interface ProxyDefinition extends Omit<Members, 'name' | 'destinationUrl'> {
  id: string;
  tenantId: string;
  destination: DestinationUrl;
}

type Members = {
  [C in keyof ProxyColumns as CamelCase<C>]: Unset<Selectable<ProxyColumns>[C]>;
};

type Unset<V> = V extends null ? undefined : V;

type CamelCase<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : S;
