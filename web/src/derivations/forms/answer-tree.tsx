import type { ReactNode } from 'react'
import { pathText } from './answer-paths.ts'

interface AnswerTreeProps {
  readonly value: unknown
  /** The title of the field that a click fills. */
  readonly fills: string
  /** Called with the path of the chosen value, and the value. */
  readonly onPick: (path: string, value: unknown) => void
}

type Steps = readonly (string | number)[]

/** The deepest level that is shown; what is below is one text. */
const MAX_LEVELS = 12
/** Levels that are open at first. */
const OPEN_LEVELS = 3
const MAX_MEMBERS = 100
const MAX_TEXT = 120

/** The JSON of a response as a tree, in which a click chooses a value. */
export function AnswerTree({ value, fills, onPick }: AnswerTreeProps) {
  return (
    <div className="answer-tree">
      <Value value={value} steps={[]} fills={fills} onPick={onPick} />
    </div>
  )
}

function Value({ value, steps, ...rest }: AnswerTreeProps & { readonly steps: Steps }) {
  const members = steps.length < MAX_LEVELS ? membersOf(value) : null
  if (members === null) return <Leaf value={value} steps={steps} {...rest} />
  const shown = members.slice(0, MAX_MEMBERS)
  const list = (
    <ul>
      {shown.map(([key, member]) => (
        <li key={key}>
          <Value value={member} steps={[...steps, key]} {...rest} />
        </li>
      ))}
      {members.length > MAX_MEMBERS && <li className="form-hint">… {members.length - MAX_MEMBERS} more</li>}
    </ul>
  )
  if (steps.length === 0) return list
  return (
    <details open={steps.length < OPEN_LEVELS}>
      <summary>
        <code>{String(steps.at(-1))}</code>{' '}
        <span className="form-hint">
          {Array.isArray(value) ? `list of ${members.length}` : `${members.length} members`}
        </span>
      </summary>
      <Choice value={value} steps={steps} {...rest}>
        Use the whole {Array.isArray(value) ? 'list' : 'object'}
      </Choice>
      {list}
    </details>
  )
}

function Leaf({ value, steps, ...rest }: AnswerTreeProps & { readonly steps: Steps }) {
  const text = JSON.stringify(value) ?? ''
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  const key = steps.at(-1)
  return (
    <Choice value={value} steps={steps} {...rest}>
      {key !== undefined && <code className="answer-key">{key}</code>} <code>{shown}</code>
    </Choice>
  )
}

interface ChoiceProps extends AnswerTreeProps {
  readonly steps: Steps
  readonly children: ReactNode
}

/** A button that chooses a value. */
function Choice({ value, steps, fills, onPick, children }: ChoiceProps) {
  const path = pathText(steps)
  return (
    <button
      type="button"
      className="answer-leaf"
      disabled={path === null}
      title={path === null ? 'No path can name this value' : `Fill ${fills} with ${path}`}
      onClick={() => path !== null && onPick(path, value)}
    >
      {children}
    </button>
  )
}

/** Returns the members of a list or an object with some; null for another value. */
function membersOf(value: unknown): readonly (readonly [string | number, unknown])[] | null {
  if (typeof value !== 'object' || value === null) return null
  const members = Array.isArray(value)
    ? value.map((item: unknown, index) => [index, item] as const)
    : Object.entries(value)
  return members.length === 0 ? null : members
}
