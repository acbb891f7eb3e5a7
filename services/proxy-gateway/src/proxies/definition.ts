import type { DestinationUrl } from '../destination/index.ts';

/** A Proxy as the gateway needs it. Its configuration stays encrypted until a transform needs it. */
export interface ProxyDefinition {
  id: string;
  tenantId: string;
  destination: DestinationUrl;
  requestTransform: string | undefined;
  responseTransform: string | undefined;
  applicationId: string | undefined;
  configurationCiphertext: Buffer | undefined;
  requireAuth: boolean;
}
