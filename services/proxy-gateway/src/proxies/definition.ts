import type { ProxyColumns } from '@sluice/database';
import type { RequestHeader } from '@sluice/vault';
import type { Selectable } from 'kysely';
import type { DestinationUrl } from '../destination/index.ts';
import type { GuardMode } from '../guard/response-guard.ts';

/** A Proxy as the gateway needs it: its columns, under our names. Secrets stay encrypted until they are needed. */
export interface ProxyDefinition extends Omit<Members, Replaced> {
  id: string;
  tenantId: string;
  destination: DestinationUrl;
  /** Decrypted and parsed. Values of tokens and of the configuration are decrypted for each call. */
  requestHeaders: readonly RequestHeader[] | undefined;
  /**
   * The Application with whose rights the tokens of `requestHeaders` are revealed; undefined for the caller's. It stays here
   * after that Application is deleted or has expired: then they are revealed with nobody's rights.
   */
  revealingApplicationId: string | undefined;
  responseGuard: 'off' | GuardMode;
}

type Replaced = 'name' | 'destinationUrl' | 'requestHeadersCiphertext' | 'responseGuard';

type Members = {
  [C in keyof ProxyColumns as CamelCase<C>]: Unset<Selectable<ProxyColumns>[C]>;
};

type Unset<V> = V extends null ? undefined : V;

type CamelCase<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : S;
