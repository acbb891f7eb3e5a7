import { HowValuesAreWritten, Snippet } from '../../code/snippet.tsx';
import { invokeLines } from '../../code/snippets.ts';
import { useNewestProxy } from '../../code/use-newest.ts';
import { Card } from '../../ui/layout.tsx';

/** A call with the token, through the newest Proxy. */
export default function UseIt({ tokenId }: { tokenId: string }) {
  const proxy = useNewestProxy();
  if (proxy === undefined) return null;
  return (
    <Card
      title="Use it"
      intro={`${proxy ? `Through the Proxy ${proxy.name}. ` : 'SLUICE_PROXY_KEY is the key of a Proxy. '}SLUICE_API_KEY is the key of an Application that may use the token.`}
    >
      <Snippet lines={invokeLines({ proxy, tokenId })} what="the call that uses the token" />
      <HowValuesAreWritten />
    </Card>
  );
}
