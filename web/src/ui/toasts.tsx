import { X } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import { Link } from 'wouter'
import { messageOf } from '../api/api-error.ts'
import { IconButton } from './button.tsx'
import './toasts.css'

interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'done' | 'error'
  readonly link: ToastLink | null
}

/** Where there is more to see. */
interface ToastLink {
  readonly href: string
  readonly name: string
}

const SHOWN_MS = 6000

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

function show(text: string, kind: Toast['kind'], link: ToastLink | null): void {
  const id = ++lastId
  replace([...toasts.slice(-3), { id, text, kind, link }])
  // What went wrong stays until somebody has seen it, and closes it or presses Escape.
  if (kind === 'done') setTimeout(() => dismiss(id), SHOWN_MS)
}

/** Says in a corner of the page that something was done. */
export function tellDone(text: string, link: ToastLink | null = null): void {
  show(text, 'done', link)
}

/** Says that something went wrong, in the words of what was thrown. */
export function tellError(error: unknown, link: ToastLink | null = null): void {
  show(messageOf(error), 'error', link)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Where these are shown; once on the page. */
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
    <div className="toasts" role="region" aria-label="Messages" aria-live="polite">
      {shown.map(({ id, text, kind, link }) => (
        <div key={id} className={`toast ${kind}`}>
          <span>
            {text}{' '}
            {link !== null && (
              <Link href={link.href} onClick={() => dismiss(id)}>
                {link.name}
              </Link>
            )}
          </span>
          <IconButton label="Dismiss" onClick={() => dismiss(id)}>
            <X size={14} />
          </IconButton>
        </div>
      ))}
    </div>
  )
}
