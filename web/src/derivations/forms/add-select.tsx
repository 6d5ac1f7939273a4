interface AddSelectProps {
  /** The accessible name, such as `Add a step`. */
  readonly label: string
  /** The text that is shown, such as `Add a step…`. */
  readonly text: string
  readonly options: readonly { readonly value: string; readonly name: string }[]
  readonly onAdd: (value: string) => void
}

/** A list from which something is added: it shows none as chosen. */
export function AddSelect({ label, text, options, onAdd }: AddSelectProps) {
  return (
    <select
      className="input"
      aria-label={label}
      value=""
      onChange={(event) => event.target.value !== '' && onAdd(event.target.value)}
    >
      <option value="">{text}</option>
      {options.map(({ value, name }) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  )
}
