import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { sluice } from '../api/client.ts';
import { useMe } from '../api/me.ts';
import { Icon } from '../ui/icon.tsx';
import { Fault } from '../ui/states.tsx';
import { classify, findPlaces, type Place } from './find-by-id.ts';
import styles from './search.module.css';

/** One search by id: a token, an Application, a Proxy, a Reactor or a trace that is pasted in finds its page. */
export function Search() {
  const { permissions } = useMe();
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const found = useMutation({
    mutationFn: (asked: { id: string; isUuid: boolean }) => findPlaces(asked.id, asked.isUuid, { sluice, permissions }),
    onSuccess: (places) => {
      const [only] = places;
      if (only && places.length === 1) go(only);
    },
  });
  useSlashKey(input);

  const close = () => {
    setRefusal(undefined);
    found.reset();
  };
  const go = ({ link }: Place) => {
    setText('');
    close();
    navigate(link);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    close();
    const id = text.trim();
    const pasted = classify(id);
    if (pasted.kind === 'id') return found.mutate({ id, isUuid: pasted.isUuid });
    if (pasted.kind === 'nothing') return setRefusal(pasted.why);
    setText('');
    setRefusal('This is a secret key. It was not sent; keys are not found by their text.');
  };
  return (
    <search className={styles.search} onKeyDown={(event) => event.key === 'Escape' && close()}>
      <Icon name="search" size={16} />
      <form onSubmit={submit}>
        <input
          ref={input}
          className={styles.input}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            close();
          }}
          placeholder="Find by id  ( / )"
          aria-label="Find a token, Application, Proxy, Reactor or trace by its id"
          autoComplete="off"
          spellCheck={false}
        />
      </form>
      <div role="status">
        {refusal && (
          <div className={styles.answer}>
            <p>{refusal}</p>
          </div>
        )}
        {found.error && (
          <div className={styles.answer}>
            <Fault error={found.error} />
          </div>
        )}
        {found.data && found.data.length !== 1 && <Answer places={found.data} onGo={close} />}
      </div>
    </search>
  );
}

function Answer({ places, onGo }: { places: readonly Place[]; onGo: () => void }) {
  return (
    <div className={styles.answer}>
      {places.length === 0 && <p>Nothing that you may see in this Tenant has this id.</p>}
      {places.map(({ kind, name, link }) => (
        <Link key={kind} {...link} onClick={onGo}>
          {name} <small>{kind}</small>
        </Link>
      ))}
    </div>
  );
}

/** As on other sites, `/` focuses the search, unless somebody is typing. */
function useSlashKey(input: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const at = event.composedPath()[0];
      const isWriting =
        at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
      if (event.key !== '/' || isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [input]);
}
