import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { sluice } from '../api/client.ts';
import { useMe } from '../api/me.ts';
import { Icon } from '../ui/icon.tsx';
import { Fault } from '../ui/states.tsx';
import { findPlaces, groups, type Place, refusalOf, shortest } from './find.ts';
import { findPages } from './pages.ts';
import styles from './search.module.css';

/** A field, and below it what fits its text. The focus stays in the field, and the arrow keys choose among the results. */
export function Palette({ onGo }: { onGo: () => void }) {
  const id = useId();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const [chosen, setChosen] = useState(0);
  const [isEntered, setEntered] = useState(false);
  const { places, error, isSearching } = usePlaces(text.trim());
  const at = Math.min(chosen, places.length - 1);

  const go = ({ link }: Place) => {
    onGo();
    navigate(link);
  };
  const type = (typed: string) => {
    const why = refusalOf(typed);
    setRefusal(why);
    setText(why === undefined ? typed : '');
    setChosen(0);
    setEntered(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((at + step + places.length) % Math.max(1, places.length));
    else if (event.key === 'Enter') setEntered(true);
    else return;
    event.preventDefault();
  };
  // Enter may be pressed before the first result is there.
  const [first] = places;
  const entered = isEntered ? (places[at] ?? first) : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes once, to what was entered
  useEffect(() => {
    if (!entered) return;
    setEntered(false);
    go(entered);
  }, [entered]);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);

  return (
    <>
      <div className={styles.asked}>
        <Icon name="search" size={18} />
        <input
          role="combobox"
          aria-label="Search pages, names, e-mail addresses and ids"
          aria-autocomplete="list"
          aria-expanded={places.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={places.length > 0 ? `${id}-${at}` : undefined}
          value={text}
          onChange={(event) => type(event.target.value)}
          onKeyDown={onKeyDown}
          placeholder="Search by name, e-mail address or id"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
        <span className={styles.keys} aria-hidden="true">
          Esc
        </span>
      </div>
      {places.length > 0 && (
        <div className={styles.results} role="listbox" id={`${id}-list`} aria-label="Results">
          {groups.map((group) => {
            const own = places.flatMap((place, index) => (place.group === group ? [{ place, index }] : []));
            if (own.length === 0) return null;
            return (
              // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, and no fieldset
              <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
                <p id={`${id}-${group}`}>{group}</p>
                {own.map(({ place: { name, about, link }, index }) => (
                  <Link
                    key={index}
                    {...link}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === at}
                    tabIndex={-1}
                    className={styles.result}
                    onMouseMove={() => setChosen(index)}
                    onClick={onGo}
                  >
                    <span>{name}</span>
                    {about && <small>{about}</small>}
                  </Link>
                ))}
              </div>
            );
          })}
        </div>
      )}
      <div className={styles.said} role="status">
        {refusal ?? saidOf({ text: text.trim(), isSearching, isEmpty: places.length === 0, isFailed: error !== null })}
      </div>
      <Fault error={error} />
    </>
  );
}

const pauseMs = 200;

/** Everything that fits the text. The service is asked once the person has paused, and only its answer about this very text counts. */
function usePlaces(text: string): { places: readonly Place[]; error: Error | null; isSearching: boolean } {
  const { permissions } = useMe();
  const asked = useAfterPause(text);
  const isAsked = asked.length >= shortest;
  const query = useQuery({
    queryKey: ['search', asked],
    queryFn: ({ signal }) => findPlaces(asked, { sluice, permissions, signal }),
    enabled: isAsked,
    gcTime: 0,
  });
  const isCurrent = asked === text;
  const found = isCurrent && isAsked ? (query.data ?? []) : [];
  const ordered = groups.flatMap((group) => found.filter((place) => place.group === group));
  return {
    places: [...findPages(text, permissions), ...ordered],
    error: isCurrent && isAsked ? query.error : null,
    isSearching: text.length >= shortest && (!isCurrent || query.isFetching),
  };
}

function useAfterPause(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(setSettled, pauseMs, text);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface Said {
  text: string;
  isSearching: boolean;
  isEmpty: boolean;
  isFailed: boolean;
}

function saidOf({ text, isSearching, isEmpty, isFailed }: Said): string | undefined {
  if (isSearching) return 'Searching…';
  if (isFailed || !isEmpty) return undefined;
  if (text.length < shortest) return `Type ${shortest} characters or more to search by name, e-mail address or id.`;
  return 'Nothing that you may see in this Tenant has this name, e-mail address or id.';
}
