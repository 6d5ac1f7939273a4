import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import { showError } from './toasts.tsx'

const SHOWN_MS = 1500

interface CopyButtonProps {
  readonly text: string
  /** Completes "Copy …". */
  readonly what: string
  readonly className?: string
}

/** Copies a text to the clipboard and confirms it with a tick. */
export function CopyButton({ text, what, className = '' }: CopyButtonProps) {
  const [copied, copy] = useCopy(text)
  return (
    <IconButton
      label={copied ? `Copied ${what}` : `Copy ${what}`}
      className={`copy-button ${className}`}
      onClick={copy}
    >
      {copied ? <Check size={14} className="copied" /> : <Copy size={14} />}
    </IconButton>
  )
}

/** Returns whether the text was just copied, and a function that copies it. */
export function useCopy(text: string): readonly [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    writeClipboard(text).then(() => setCopied(true), showError)
  }
  return [copied, copy]
}

async function writeClipboard(text: string): Promise<void> {
  // Missing on pages without a secure context.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard === undefined)
    throw new Error('The browser allows copying only on HTTPS pages and on localhost')
  await clipboard.writeText(text)
}
