import { useEffect, useSyncExternalStore } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** The drafts that leaving would lose, by what throws each away. */
const drafts = new Set<() => void>()

/** The step that waits for the answer of the person; null while nothing is asked. */
let waiting: (() => void) | null = null

const listeners = new Set<() => void>()

/** Asks before this draft is lost, while it is changed: where the page leaves it, also by *Back*, and where the browser leaves the page. */
export function useUnsaved(isChanged: boolean, onDiscard: () => void = nothing): void {
  useEffect(() => {
    if (!isChanged) return
    drafts.add(onDiscard)
    addEventListener('beforeunload', keepPage)
    // Safari before 26.2 and Firefox before 147 have no Navigation API: there Back does not ask.
    globalThis.navigation?.addEventListener('navigate', askBefore)
    return () => {
      drafts.delete(onDiscard)
      if (drafts.size > 0) return
      removeEventListener('beforeunload', keepPage)
      globalThis.navigation?.removeEventListener('navigate', askBefore)
    }
  }, [isChanged, onDiscard])
}

/** Takes a step that loses drafts: at once if there are none, otherwise when the person agrees. */
export function whenSaved(step: () => void): void {
  if (drafts.size === 0) step()
  else wait(step)
}

/** The question whether drafts are thrown away. */
export function UnsavedDialog() {
  const step = useSyncExternalStore(subscribe, () => waiting)
  const keep = (): void => wait(null)
  const discard = (): void => {
    for (const each of drafts) each()
    drafts.clear()
    wait(null)
    // The focus goes where the step leads, once the dialog is closed.
    setTimeout(() => step?.())
  }
  return (
    <Dialog
      title="Discard your changes?"
      description="They are not saved."
      open={step !== null}
      onClose={keep}
      actions={
        <>
          <Button onClick={keep}>Keep editing</Button>
          <Button look="danger" onClick={discard}>
            Discard
          </Button>
        </>
      }
    />
  )
}

function wait(step: (() => void) | null): void {
  waiting = step
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Makes the browser ask before it leaves the page; a listener of `beforeunload`. */
export function keepPage(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

/** Asks before *Back* and *Forward* lead to another page of the viewer. */
function askBefore(event: NavigateEvent): void {
  const { navigationType, destination, cancelable } = event
  if (drafts.size === 0 || navigationType !== 'traverse' || !cancelable) return
  if (new URL(destination.url).pathname === location.pathname) return
  event.preventDefault()
  wait(() => void navigation.traverseTo(destination.key))
}

function nothing(): void {
  // A draft that only its form has is lost with it.
}
