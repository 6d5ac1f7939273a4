import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { useRef, useState } from 'react'
import { reviewCountsQuery, runsQuery } from '../api/queries.ts'
import './filter-menu.css'
import { PickedItem } from './picked-item.tsx'
import { actorOptions, matchingWriters, runOptions } from './writer-options.ts'

interface WriterPickerProps {
  readonly of: 'actors' | 'runs'
  readonly picked: readonly string[]
  readonly onPick: (picked: readonly string[]) => void
}

/** Picks patterns of actors, or runs, from those that are known or by typing. */
export function WriterPicker({ of, picked, onPick }: WriterPickerProps) {
  const [typed, setTyped] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const [pickedAtFirst] = useState(picked)
  const counts = useQuery({ ...reviewCountsQuery, enabled: of === 'actors' })
  const runs = useQuery({ ...runsQuery(), enabled: of === 'runs' })
  const known =
    of === 'runs'
      ? runOptions(runs.data?.runs ?? [])
      : actorOptions(counts.data?.writers ?? { actors: [], latest_run: null })
  const options = matchingWriters(known, pickedAtFirst, typed)
  const toggle = (name: string): void => {
    // The next input starts a new search.
    input.current?.select()
    onPick(picked.includes(name) ? picked.filter((each) => each !== name) : [...picked, name])
  }
  return (
    <Command
      className="filter-menu value-picker"
      label={of === 'runs' ? 'Runs' : 'Actors'}
      shouldFilter={false}
    >
      <Command.Input
        ref={input}
        placeholder={of === 'runs' ? 'The id of a run' : 'An actor, or a pattern such as agent:*'}
        value={typed}
        onValueChange={setTyped}
        autoFocus
      />
      <Command.List>
        {options.map(({ name, note }) => (
          <PickedItem
            key={name}
            value={name}
            text={name}
            note={note}
            isPicked={picked.includes(name)}
            onToggle={() => toggle(name)}
          />
        ))}
      </Command.List>
    </Command>
  )
}
