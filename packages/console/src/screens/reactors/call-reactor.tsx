import { Snippet } from '../../code/snippet.tsx';
import { reactLines } from '../../code/snippets.ts';
import { useNewestToken } from '../../code/use-newest.ts';
import { Card } from '../../ui/layout.tsx';

export default function CallReactor({ reactorId }: { reactorId: string }) {
  const token = useNewestToken();
  if (token === undefined) return null;
  return (
    <Card
      title="Call this Reactor"
      intro={`SLUICE_API_KEY is the key of an Application with token:use${token ? '' : ', and SLUICE_TOKEN is a token'}. The code gets the value in req.args.`}
    >
      <Snippet lines={reactLines({ reactorId, tokenId: token?.id })} what="the call that runs the Reactor" />
    </Card>
  );
}
