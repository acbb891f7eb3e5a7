import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { HowValuesAreWritten, Snippet } from '../../code/snippet.tsx';
import { createTokenLines, invokeLines } from '../../code/snippets.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/layout.tsx';
import styles from './overview.module.css';
import type { Progress } from './use-progress.ts';

/** The destination of the README's example: its response is what it received. */
const echo = {
  url: 'http://127.0.0.1:7000',
  line: `node -e 'require("http").createServer((request, response) => request.pipe(response)).listen(7000, "127.0.0.1")'`,
};

/** From nothing to the first invocation, with calls to copy. A step is ticked by what exists. */
export function FirstSteps({ progress: { application, token, proxy } }: { progress: Progress }) {
  return (
    <Card
      title="Your first invocation"
      intro="After the first invocation, this page shows the numbers of invocations and tokens instead of these steps."
    >
      <ol className={styles.steps}>
        <Step number={1} done={application !== null} title="Create an Application">
          {application ? (
            <p>
              <Link to="/applications/$id" params={{ id: application.id }}>
                {application.name}
              </Link>{' '}
              has a key. Set SLUICE_API_KEY to this key in the shell that makes the calls below.
            </p>
          ) : (
            <>
              <p>
                The button opens a form. In this form, the type private and the permissions token:create and token:use
                are already chosen. The key of the Application is shown only once. Keep the key in the environment
                variable SLUICE_API_KEY.
              </p>
              <div>
                <LinkButton to="/applications/new" search={{ start: 'first-call' }} small needs="application:create">
                  New Application
                </LinkButton>
              </div>
            </>
          )}
        </Step>
        <Step number={2} done={token !== null} title="Store a value in the vault">
          {token ? (
            <p>
              The token{' '}
              <Link to="/tokens/$id" params={{ id: token.id }}>
                {token.id}
              </Link>{' '}
              stands for the value.
            </p>
          ) : (
            <>
              <p>The call stores a card. The id in the response is the token. The token stands for the card.</p>
              <Snippet lines={createTokenLines()} what="the call that creates a token" />
            </>
          )}
        </Step>
        <Step number={3} done={proxy !== null} title="Create a Proxy">
          {proxy ? (
            <p>
              <Link to="/proxies/$id" params={{ id: proxy.id }}>
                {proxy.name}
              </Link>{' '}
              sends to {proxy.destination_url}
            </p>
          ) : (
            <>
              <p>
                The Proxy has the URL of the destination that needs the value. To try the Proxy, start a test
                destination on the machine that Sluice runs on. This line starts one that answers with what it receives:
              </p>
              <Code text={echo.line} what="the line that starts a destination" />
              <p>
                Its URL is <code>{echo.url}</code>. Sluice calls this URL only if the installation allows local
                destinations. An installation that <code>npm start</code> started allows them.
              </p>
              <div>
                <LinkButton to="/proxies/new" small needs="proxy:create">
                  New Proxy
                </LinkButton>
              </div>
            </>
          )}
        </Step>
        <Step number={4} done={false} title="Send the token through the Proxy">
          <p>{needsOf({ token, proxy })}The destination receives the value. The call itself has only the token.</p>
          <Snippet lines={invokeLines({ proxy, tokenId: token?.id })} what="the call through the Proxy" />
          <HowValuesAreWritten />
        </Step>
      </ol>
    </Card>
  );
}

/** What the call expects in the environment, besides the key. */
function needsOf({ token, proxy }: Pick<Progress, 'token' | 'proxy'>): string {
  const names = [
    ...(token ? [] : ['the token as SLUICE_TOKEN']),
    ...(proxy ? [] : ['the key of the Proxy as SLUICE_PROXY_KEY']),
  ];
  return names.length > 0 ? `The call expects ${names.join(' and ')}. ` : '';
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
