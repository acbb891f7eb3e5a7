import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Field, useFields } from '../react.tsx';

const { vault = '' } = document.documentElement.dataset;

/** A shop's form as somebody writes it with React. */
function Shop() {
  const group = useFields(vault, 'public-key', { application: 'app' });
  const [disabled, setDisabled] = useState(false);
  const [complete, setComplete] = useState('');
  const [token, setToken] = useState('');
  const pay = async () => setToken(JSON.stringify(await group.tokenize()));
  return (
    <main>
      <Field
        fields={group}
        kind="number"
        id="number"
        title="Card number"
        disabled={disabled}
        onChange={(change) => setComplete(String(change.complete))}
        onSubmit={pay}
      />
      <Field fields={group} kind="expiry" id="expiry" title="Expiry" disabled={disabled} />
      <button type="button" id="disable" onClick={() => setDisabled(!disabled)}>
        Disable
      </button>
      <output id="complete">{complete}</output>
      <output id="token">{token}</output>
    </main>
  );
}

function App() {
  const [shows, setShows] = useState(true);
  return (
    <>
      <button type="button" id="toggle" onClick={() => setShows(!shows)}>
        Toggle
      </button>
      {shows && <Shop />}
    </>
  );
}

const root = document.body.appendChild(document.createElement('div'));
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
