import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { headerPrefix, sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/layout.tsx';
import styles from './overview.module.css';

const keyHeader = `-H "${headerPrefix}-API-KEY: $SLUICE_API_KEY"`;
const json = "-H 'Content-Type: application/json'";

const createToken = `curl "$SLUICE_URL/tokens" \\
  ${keyHeader} \\
  ${json} \\
  -d '{"type": "card", "data": {"number": "4242424242424242"}}'`;

const invoke = `curl "$SLUICE_URL/proxy" \\
  ${keyHeader} \\
  -H "${headerPrefix}-PROXY-KEY: $SLUICE_PROXY_KEY" \\
  ${json} \\
  -d '{"card": "{{ <token id> | json: '\\''$.number'\\'' }}"}'`;

/** From nothing to the first invocation, with calls to copy. Completed steps are marked. */
export function FirstSteps() {
  const { permissions } = useMe();
  const usage = useQuery({ queryKey: ['tenant', 'usage'], queryFn: ({ signal }) => sluice.tenant.usage({ signal }) });
  const proxies = useQuery({
    queryKey: ['proxies', 'any'],
    queryFn: ({ signal }) => sluice.proxies.list({ size: 1 }, { signal }).page(),
    enabled: permissions.includes('proxy:read'),
  });
  const counts = Object.values(usage.data?.token_report.metrics_by_type ?? {});
  const hasTokens = counts.some(({ count }) => count > 0);
  const hasProxies = (proxies.data?.pagination.total_items ?? 0) > 0;
  return (
    <Card
      title={hasTokens && hasProxies ? 'Nothing was invoked in the last hour' : 'Your first invocation'}
      intro="Three calls. SLUICE_URL is the base URL of the service; on your own machine http://127.0.0.1:8080."
    >
      <ol className={styles.steps}>
        <Step number={1} done={hasTokens} title="Store a value in the vault">
          <p>Create an Application whose key may create and use tokens, and store a card. The response is a token.</p>
          <div>
            <LinkButton to="/applications/new" small needs="application:create">
              New Application
            </LinkButton>
          </div>
          <Code text={createToken} what="the call that creates a token" />
        </Step>
        <Step number={2} done={hasProxies} title="Create a Proxy">
          <p>It has the URL of the destination that needs the value.</p>
          <div>
            <LinkButton to="/proxies/new" small needs="proxy:create">
              New Proxy
            </LinkButton>
          </div>
        </Step>
        <Step number={3} done={false} title="Send the token through it">
          <p>The destination receives the value. You never held it.</p>
          <Code text={invoke} what="the call through the Proxy" />
        </Step>
      </ol>
    </Card>
  );
}

interface StepProps {
  number: number;
  done: boolean;
  title: string;
  children: ReactNode;
}

function Step({ number, done, title, children }: StepProps) {
  return (
    <li className={styles.step}>
      <span className={`${styles.number} ${done ? styles.done : ''}`} aria-hidden="true">
        {done ? <Icon name="check" size={16} /> : number}
      </span>
      <div>
        <h3>
          {title}
          {done && <span className="unseen"> (done)</span>}
        </h3>
        {children}
      </div>
    </li>
  );
}
