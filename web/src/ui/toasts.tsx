import { X } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import { Link } from 'wouter'
import { messageOf } from '../api/api-error.ts'
import { Button, IconButton } from './button.tsx'
import './toasts.css'

interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'done' | 'warning' | 'error'
  readonly more: ToastLink | ToastAction | null
}

/** A link to details. */
interface ToastLink {
  readonly href: string
  readonly name: string
}

/** An action such as Undo. */
interface ToastAction {
  readonly name: string
  run(): void
}

const SHOWN_MS = 6000

/** Long enough to read a warning, or a message with an action and to reach it by keyboard. */
const SHOWN_LONG_MS = 20_000

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function replace(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function dismiss(id: number): void {
  replace(toasts.filter((toast) => toast.id !== id))
}

function show(text: string, kind: Toast['kind'], more: Toast['more']): void {
  const id = ++lastId
  replace([...toasts.slice(-3), { id, text, kind, more }])
  // Errors stay until they are closed, by Escape or the button.
  const isAction = more !== null && 'run' in more
  const isLong = isAction || kind === 'warning'
  if (kind !== 'error') setTimeout(() => dismiss(id), isLong ? SHOWN_LONG_MS : SHOWN_MS)
}

/** Shows a success message. */
export function showSuccess(text: string, more: Toast['more'] = null): void {
  show(text, 'done', more)
}

/** Shows that something was done in part. */
export function showWarning(text: string, more: Toast['more'] = null): void {
  show(text, 'warning', more)
}

/** Shows the message of an error. */
export function showError(error: unknown, link: ToastLink | null = null): void {
  show(messageOf(error), 'error', link)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Renders the messages; mounted once. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape' && toasts.length > 0) replace([])
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <div className="toasts" role="region" aria-label="Notifications" aria-live="polite">
      {shown.map(({ id, text, kind, more }) => (
        <div key={id} className={`toast ${kind}`}>
          <span>
            {text}{' '}
            {more !== null && 'href' in more && (
              <Link href={more.href} onClick={() => dismiss(id)}>
                {more.name}
              </Link>
            )}
          </span>
          {more !== null && 'run' in more && (
            <Button
              look="quiet"
              onClick={() => {
                dismiss(id)
                more.run()
              }}
            >
              {more.name}
            </Button>
          )}
          <IconButton label="Dismiss" onClick={() => dismiss(id)}>
            <X size={14} />
          </IconButton>
        </div>
      ))}
    </div>
  )
}
