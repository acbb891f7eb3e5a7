import { type BodyBytes, bodyBytesFrom, type Reservation, type ReservationOptions } from '@sluice/body-bytes';

export const bodyParts = { part: 0.4, requestPart: 0.75 };

/** Half of a Tenant's memory, and no limit for the process, because `bodyBytes` divides it among Tenants. */
export function decoderBytesOf({ limit, tenantLimit }: BodyBytes, waitMs: number): BodyBytes {
  const config = {
    BODY_HELD_BYTES: 1000 * limit,
    BODY_HELD_TENANT_BYTES: Math.ceil(tenantLimit / 2),
    BODY_WAIT_MS: waitMs,
  };
  return bodyBytesFrom(config, bodyParts);
}

/** A decoder up to this size, such as gzip's, takes no more than the beginning of a body, so it need not queue. */
const smallDecoder = 64 * 1024;

/**
 * The memory of the decoder of a body that streams. Large decoders of a Tenant take at most half of its memory and wait in
 * a queue of their own. Otherwise idle uploads of a few compressed bytes could block all its other requests.
 */
export class DecoderMemory {
  readonly #turn: Reservation;
  readonly #memory: Reservation;

  constructor({ bodyBytes, decoderBytes }: Rooms, options: ReservationOptions) {
    this.#turn = decoderBytes.open(options);
    this.#memory = bodyBytes.open(options);
  }

  /** Call before the decoder exists. Rejects with 503 after waiting too long, with 400 if the caller left. */
  async grow(bytes: number): Promise<void> {
    if (bytes > smallDecoder) await this.#turn.grow(bytes);
    await this.#memory.grow(bytes);
  }

  release(): void {
    this.#turn.release();
    this.#memory.release();
  }
}

interface Rooms {
  bodyBytes: BodyBytes;
  /** Decides which large decoders of a Tenant may reserve their part of `bodyBytes`. */
  decoderBytes: BodyBytes;
}
