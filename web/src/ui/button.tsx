import type { ComponentProps, ReactNode } from 'react'
import './button.css'

interface ButtonProps extends ComponentProps<'button'> {
  /** `plain` unless given. */
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly icon?: ReactNode
}

/** A button with a text, and perhaps an icon before it. */
export function Button({ look = 'plain', icon, className = '', children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button ${look} ${className}`} {...rest}>
      {icon}
      {children}
    </button>
  )
}

interface IconButtonProps extends ComponentProps<'button'> {
  /** What it does: its name for screen readers, and its tooltip. */
  readonly label: string
  readonly children: ReactNode
}

/** A button that is an icon only. */
export function IconButton({ label, className = '', children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`button quiet icon-button ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    >
      {children}
    </button>
  )
}
