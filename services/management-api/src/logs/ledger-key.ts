import { canonicalUuid, type PublicAnswer } from '@sluice/http-api';
import { ledgerOriginOf, originOf, readPublicKey, verifierLine } from '@sluice/ledger';
import { ServiceError, validationFailed } from '@sluice/problems';

export interface LedgerKeySettings {
  LEDGER_PUBLIC_KEYS: string | undefined;
  LEDGER_ORIGIN?: string | undefined;
  BASE_URL?: string | undefined;
}

/**
 * The keys come from the configuration, because the owner of the database could add keys to a table. Every UUID gets an
 * answer of the same form, so that none reveals which Tenants exist. @throws {Error} if the setting is not a list of
 * keys.
 */
export function ledgerKeyAnswer(settings: LedgerKeySettings): PublicAnswer {
  const publicKeys = readKeys(settings.LEDGER_PUBLIC_KEYS ?? '');
  const ledgerOrigin = ledgerOriginOf(settings);
  return {
    path: '/.well-known/sluice-ledger-key/:tenant_id',
    contentType: 'text/plain; charset=utf-8',
    maxAgeSeconds: 300,
    answer({ tenant_id = '' }) {
      const tenantId = canonicalUuid(tenant_id);
      if (tenantId === undefined) throw validationFailed({ tenant_id: ['must be a UUID'] });
      if (publicKeys.length === 0) {
        throw new ServiceError('not_found', 'There is no public key: LEDGER_PUBLIC_KEYS is not set');
      }
      const name = originOf(ledgerOrigin, tenantId);
      return publicKeys.map((publicKey) => `${verifierLine({ name, publicKey })}\n`).join('');
    },
  };
}

function readKeys(text: string) {
  try {
    return text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(readPublicKey);
  } catch (cause) {
    throw new Error('LEDGER_PUBLIC_KEYS must be Ed25519 public keys, 32 bytes in base64 each, comma separated', {
      cause,
    });
  }
}
