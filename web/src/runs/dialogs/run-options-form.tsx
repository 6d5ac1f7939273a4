import { useId, useState } from 'react'
import { ONLY } from './run-order.ts'
import type { OptionErrors, RunOptions } from './run-options.ts'

interface RunOptionsFormProps {
  readonly options: RunOptions
  readonly errors: OptionErrors
  readonly onChange: (options: RunOptions) => void
}

/** The form of the cells and limits of a run. */
export function RunOptionsForm({ options, errors, onChange }: RunOptionsFormProps) {
  const [isOpen, setIsOpen] = useState(options.limit + options.maxCalls + options.maxCost !== '')
  return (
    <>
      <div className="run-which">
        <label>
          Cells{' '}
          <select
            className="input"
            value={options.only}
            autoFocus
            onChange={(event) => onChange({ ...options, only: event.currentTarget.value })}
          >
            <option value="">{options.force ? 'All' : 'Missing, stale or failed'}</option>
            {ONLY.map((only) => (
              <option key={only} value={only}>
                Only {only}
              </option>
            ))}
          </select>
        </label>
        <label className="run-force">
          <input
            type="checkbox"
            checked={options.force}
            onChange={(event) => onChange({ ...options, force: event.currentTarget.checked })}
          />
          Recompute fresh and cached cells
        </label>
      </div>
      <details className="run-limits" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Limits</summary>
        <div className="run-limits-row">
          <Bound
            name="Records"
            hint="untried first, then failed"
            value={options.limit}
            error={errors.limit}
            onChange={(limit) => onChange({ ...options, limit })}
          />
          <Bound
            name="Calls"
            hint="at most"
            value={options.maxCalls}
            error={errors.maxCalls}
            onChange={(maxCalls) => onChange({ ...options, maxCalls })}
          />
          <Bound
            name="Dollars"
            hint="at most"
            value={options.maxCost}
            error={errors.maxCost}
            onChange={(maxCost) => onChange({ ...options, maxCost })}
          />
          <Bound
            name="Failures"
            hint="consecutive, per host"
            value={options.stopAfter}
            error={errors.stopAfter}
            onChange={(stopAfter) => onChange({ ...options, stopAfter })}
          />
        </div>
      </details>
    </>
  )
}

interface BoundProps {
  readonly name: string
  readonly hint: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}

function Bound({ name, hint, value, error, onChange }: BoundProps) {
  const id = useId()
  return (
    <div className="run-bound">
      <label htmlFor={id}>{name}</label>
      <input
        id={id}
        className="input"
        inputMode="decimal"
        autoComplete="off"
        placeholder="no limit"
        value={value}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <span id={`${id}-hint`} className={error === undefined ? 'form-hint' : 'form-error'}>
        {error ?? hint}
      </span>
    </div>
  )
}
