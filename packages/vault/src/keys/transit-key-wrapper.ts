import type { RootKeys } from './key-wrapper.ts';
import { type TransitClientOptions, transitClient } from './transit-client.ts';

export type { KeyServiceLog } from './transit-client.ts';

export interface TransitOptions extends TransitClientOptions {
  mount: string;
  /** Its type must support associated data, as the default aes256-gcm96 does. */
  key: string;
}

const ciphertextPattern = /^vault:v(\d+):[A-Za-z0-9+/=]+$/;

/** The engine of HashiCorp Vault or OpenBao gets data keys in clear over TLS, with the context as associated data. */
export function transitRootKeys({ mount, key, ...options }: TransitOptions): RootKeys {
  const client = transitClient(options);
  const idOf = (version: string | number) => `vault-transit:${mount}/${key}:v${version}`;
  const associated_data = (context: string) => Buffer.from(context).toString('base64');
  const has = (keyId: string) => keyId.startsWith(idOf(''));
  return {
    has,
    async currentKeyId() {
      const { status, data } = await client.call('GET', `${mount}/keys/${key}`);
      if (status !== 200) throw client.refuse('there is no such transit engine or key', status);
      const { latest_version } = data;
      if (typeof latest_version !== 'number') throw client.refuse('the answer is not from a transit engine');
      return idOf(latest_version);
    },
    async wrap(plain, context) {
      const body = { plaintext: plain.toString('base64'), associated_data: associated_data(context) };
      const { status, data } = await client.call('POST', `${mount}/encrypt/${key}`, body);
      if (status !== 200) throw client.refuse('it cannot encrypt with this transit engine and key', status);
      const { ciphertext } = data;
      const version = typeof ciphertext === 'string' && ciphertextPattern.exec(ciphertext)?.[1];
      if (!version) throw client.refuse('the answer is not from a transit engine');
      return { wrapped: Buffer.from(String(ciphertext)), keyId: idOf(version) };
    },
    async unwrap(wrapped, { context, keyId }) {
      const ciphertext = wrapped.toString('latin1');
      if (!has(keyId)) throw new Error('it was wrapped by a root key that the settings do not give');
      if (!ciphertextPattern.test(ciphertext)) throw new Error('it is not a ciphertext of the transit engine');
      const body = { ciphertext, associated_data: associated_data(context) };
      const { status, data } = await client.call('POST', `${mount}/decrypt/${key}`, body);
      if (status !== 200) throw new Error(`the key service refuses to decrypt it (${status})`);
      const { plaintext } = data;
      if (typeof plaintext !== 'string') throw client.refuse('the answer is not from a transit engine');
      return Buffer.from(plaintext, 'base64');
    },
  };
}
