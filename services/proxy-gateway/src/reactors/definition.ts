import type { DeclaredMember } from '@sluice/database';

/** A reactor as the gateway needs it. Its configuration stays encrypted until it is needed. */
export interface ReactorDefinition {
  id: string;
  tenantId: string;
  /** Its own or its formula's. */
  code: string;
  /** The parameters in `args` that its formula declares. */
  parameters: readonly DeclaredMember[];
  configurationCiphertext: Buffer | undefined;
  applicationId: string | undefined;
  /** Whether a run is repeated if its gateway died after the code may have called a destination. */
  retryable: boolean;
}
