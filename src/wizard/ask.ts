import inquirer from 'inquirer';
import type { Asker } from './question.js';

/** Asks on the terminal. Ctrl-C throws the library's ExitPromptError. */
export const terminalAsker: Asker = {
  async choose({ message, choices }) {
    const { answer } = await inquirer.prompt<{ answer: string }>([
      {
        type: 'select', name: 'answer', message, pageSize: 12, loop: false,
        choices: choices.map(({ value, label, about }) => ({ value, name: label, ...(about === undefined ? {} : { description: about }) })),
      },
    ]);
    return answer;
  },
  async secret(message) {
    const { answer } = await inquirer.prompt<{ answer: string }>([{ type: 'password', name: 'answer', message, mask: '*' }]);
    return answer.trim();
  },
};
