import type { DescribedToken } from '@sluice/sdk';
import { lazy, Suspense, useState } from 'react';
import { useMissingRight } from '../../api/me.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, Facts, Soft } from '../../ui/layout.tsx';
import { Loading } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import styles from './tokens.module.css';

/** Loaded when it is needed. */
const BindToken = lazy(() => import('./bind-token.tsx'));

/** What the token may be used for. */
export function TokenBinding({ token }: { token: DescribedToken }) {
  const [isOpen, setOpen] = useState(false);
  const { use, uses = 0 } = token;
  return (
    <Card
      title="Bound to"
      intro="Restrictions limit how Proxies and Reactors may use the token. A use must satisfy all restrictions. Otherwise the token is not revealed."
      acts={
        <Button small needs="application:update" onClick={() => setOpen(true)}>
          Bind this token
        </Button>
      }
    >
      {use ? (
        <Facts
          facts={{
            Destinations: use.destinations && <Entries texts={use.destinations} />,
            Methods: use.methods && <Entries texts={use.methods} />,
            Places: use.places && <Entries texts={use.places} />,
            Proxies: use.proxies && <Proxies ids={use.proxies} />,
            Uses: use.max_uses === undefined ? undefined : <Uses uses={uses} most={use.max_uses} />,
            Until: use.until && <Until at={use.until} />,
          }}
        />
      ) : (
        <p className={styles.unbound}>
          No restrictions. Every Proxy and Reactor whose caller may use the token can reveal it, for any destination and
          any number of times.
        </p>
      )}
      {isOpen && (
        <Suspense fallback={<Loading />}>
          <BindToken token={token} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Card>
  );
}

function Entries({ texts }: { texts: readonly string[] }) {
  return (
    <ul className={styles.bound}>
      {texts.map((text) => (
        <li key={text}>
          <Entry text={text} />
        </li>
      ))}
    </ul>
  );
}

/** A host or a pattern of hosts, a method, or a place. */
function Entry({ text }: { text: string }) {
  if (text.startsWith('*.')) {
    return (
      <>
        <Soft>any host below</Soft> <code>{text.slice(2)}</code>
      </>
    );
  }
  const [, header] = /^header:(.+)$/.exec(text) ?? [];
  if (header !== undefined) {
    return (
      <>
        <Soft>the header</Soft> <code>{header}</code>
      </>
    );
  }
  return ['body', 'query', 'path'].includes(text) ? `the ${text}` : <code>{text}</code>;
}

function Proxies({ ids }: { ids: readonly string[] }) {
  const names = useNames('proxies', ids);
  const isKnown = useMissingRight('proxy:read') === undefined && names.size > 0;
  return (
    <ul className={styles.bound}>
      {ids.map((id) => (
        <li key={id}>
          <ThingLink type="proxy" id={id} name={names.get(id)} />{' '}
          {isKnown && !names.has(id) && <Badge tone="bad">unknown</Badge>}
        </li>
      ))}
    </ul>
  );
}

function Uses({ uses, most }: { uses: number; most: number }) {
  return (
    <>
      {uses.toLocaleString()} of {most.toLocaleString()} {uses >= most && <Badge tone="bad">none left</Badge>}
    </>
  );
}

function Until({ at }: { at: string }) {
  return (
    <>
      <Time at={at} /> {Date.parse(at) <= Date.now() && <Badge tone="bad">expired</Badge>}
    </>
  );
}
