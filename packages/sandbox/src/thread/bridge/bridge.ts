import type { Meter } from '../meter.ts';
import { cipherOperations } from './ciphers.ts';
import { clockOperations } from './clock.ts';
import { compressionOperations } from './compression.ts';
import { cryptoOperations } from './crypto.ts';
import { derivationOperations } from './derivation.ts';
import { encodingOperations } from './encodings.ts';
import { intlOperations } from './intl.ts';
import { keyOperations } from './keys.ts';
import { pathOperations } from './paths.ts';
import { signatureOperations } from './signatures.ts';
import { urlOperations } from './urls.ts';

type Operation = (...parameters: unknown[]) => unknown;

export interface Bridge {
  /** Runs a synchronous operation of Node.js. Never throws: returns `[1, value]` or `[0, error]` as JSON. */
  call(operation: string, parametersJson: string): string;
  clear(): void;
}

export function meteredBridge(meter: Meter): Bridge {
  const ciphers = cipherOperations();
  const operations = new Map<string, Operation>(
    Object.entries({
      ...cryptoOperations,
      ...urlOperations,
      ...pathOperations,
      ...intlOperations,
      ...clockOperations(),
      ...encodingOperations,
      ...keyOperations(meter),
      ...compressionOperations(meter),
      ...derivationOperations(meter),
      ...signatureOperations(meter),
      ...ciphers.operations,
    }),
  );
  return {
    call: (name, parametersJson) => {
      try {
        const operation = operations.get(name);
        if (!operation) throw new Error(`Unknown operation ${name}`);
        const parameters: unknown = JSON.parse(parametersJson);
        return JSON.stringify([1, operation(...(Array.isArray(parameters) ? parameters : []))]);
      } catch (error) {
        return JSON.stringify([0, describe(error)]);
      }
    },
    clear: () => void ciphers.clear(),
  };
}

/** Without the stack, because it names files of the service. */
function describe(error: unknown) {
  if (!(error instanceof Error)) return { name: 'Error', message: 'The operation failed' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { name: error.name, message: error.message, code };
}
