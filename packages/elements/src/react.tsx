'use client';

import { type HTMLAttributes, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import { fields } from './elements.ts';
import type * as types from './types.ts';

/** A group of fields that make one token. The fields are removed when the component that calls this hook is unmounted. */
export function useFields(origin: string, key: string, { application, theme }: types.FieldsOptions): types.Fields {
  const looks = JSON.stringify(theme);
  const group = useMemo(
    () => fields(origin, key, { application, theme: looks && JSON.parse(looks) }),
    [origin, key, application, looks],
  );
  useEffect(() => () => group.destroy(), [group]);
  return group;
}

interface Listeners {
  onReady?(): void;
  onFocus?(): void;
  onBlur?(): void;
  onChange?(change: types.Change): void;
  /** The person pressed Enter in the field. */
  onSubmit?(): void;
  onError?(problem: types.Problem): void;
}

type Attributes = Omit<HTMLAttributes<HTMLDivElement>, keyof Listeners | 'title' | 'children'>;

/** All options of this kind of field, and the attributes of the `div` around the field. */
export type FieldProps<K extends types.Kind> = Attributes &
  Listeners &
  types.OptionsByKind[K] & { fields: types.Fields; kind: K; fieldRef?: Ref<types.Field | null> };

type AnyProps = Attributes & Listeners & types.TextOptions & Partial<types.RevealOptions>;

/**
 * A field. If its kind, name, mask, pattern, token or group changes, a new field replaces it; other changes apply to the existing
 * field.
 */
export function Field<K extends types.Kind>({ fields: group, kind, fieldRef, ...props }: FieldProps<K>) {
  const { title, label, placeholder, theme, disabled, words, name, mask, pattern, token, authorize, ...rest } =
    props as AnyProps;
  const { onReady, onFocus, onBlur, onChange, onSubmit, onError, ...attributes } = rest;
  const target = useRef<HTMLDivElement>(null);
  const [field, setField] = useState<types.Field | null>(null);
  const shown = { title, placeholder, theme, disabled };
  const latest = useRef({ shown, label, words, authorize, rest });
  latest.current = { shown, label, words, authorize, rest };

  useEffect(() => {
    if (!target.current) return;
    const given = latest.current;
    const ask: types.Authorize = async (nonce) => latest.current.authorize?.(nonce);
    const options = {
      ...given.shown,
      label: given.label,
      words: given.words,
      name,
      mask,
      pattern,
      token,
      authorize: ask,
    };
    const mounted = group.field(kind, target.current, options as unknown as types.OptionsByKind[K]);
    mounted.on('focus', () => latest.current.rest.onFocus?.());
    mounted.on('blur', () => latest.current.rest.onBlur?.());
    mounted.on('change', (change) => latest.current.rest.onChange?.(change));
    mounted.on('submit', () => latest.current.rest.onSubmit?.());
    mounted.on('error', (problem) => latest.current.rest.onError?.(problem));
    mounted.ready.then(
      () => latest.current.rest.onReady?.(),
      // `onError` reports it.
      () => undefined,
    );
    setField(mounted);
    return () => mounted.unmount();
  }, [group, kind, name, mask, pattern, token]);

  const changes = JSON.stringify(shown);
  useEffect(() => field?.update(JSON.parse(changes)), [field, changes]);
  useImperativeHandle<types.Field | null, types.Field | null>(fieldRef, () => field, [field]);
  return <div {...attributes} ref={target} />;
}
