//! The texts of the lessons.

use super::{Shown, Written};
use conclave_core::Property;

pub(super) const LESSONS: &[Written] = &[
    Written {
        title: ["Why not just a file?", "Por que não só um arquivo?"],
        text: [
            "Two processes each read a number, add one, and write it back. It begins as 42, and \
             nothing keeps one from reading while the other is at it.",
            "Dois processos leem um número, somam um e escrevem de volta. Ele começa em 42, e nada \
             impede um de ler enquanto o outro trabalha.",
        ],
        scenario: ("lost-update", 0),
        question: ["What is the number in the end?", "Qual é o número no fim?"],
        options: &[["42", "42"], ["43", "43"], ["44", "44"]],
        right: 1,
        answer: [
            "Both read 42 and both write 43. Each did everything right, and one update is lost. \
             This is what mutual exclusion is for.",
            "Os dois leem 42 e os dois escrevem 43. Cada um fez tudo certo, e uma atualização se \
             perde. É para isso que serve a exclusão mútua.",
        ],
        shown: Shown::Value(43),
    },
    Written {
        title: ["One who decides", "Um que decide"],
        text: [
            "A coordinator lets one in at a time: whoever wants in asks, is let in, and says when \
             it leaves. Three clients enter, one after the other.",
            "Um coordenador deixa entrar um por vez: quem quer entrar pede, é admitido, e avisa \
             quando sai. Três clientes entram, um depois do outro.",
        ],
        scenario: ("central-walk", 0),
        question: [
            "How many messages does that take, for all three?",
            "Quantas mensagens isso custa, para os três?",
        ],
        options: &[["6", "6"], ["9", "9"], ["12", "12"]],
        right: 1,
        answer: [
            "REQUEST, GRANT, RELEASE: three for each entry, whoever else waits. No algorithm \
             without a coordinator needs so few when many nodes ask.",
            "REQUEST, GRANT, RELEASE: três por entrada, não importa quem mais espera. Sem \
             coordenador, nenhum algoritmo usa tão poucas quando muitos nós pedem.",
        ],
        shown: Shown::Messages(9),
    },
    Written {
        title: ["The one who decides forgets", "Quem decide esquece"],
        text: [
            "Client 1 is inside. The coordinator crashes and comes back at once, without its \
             memory. Then client 2 asks.",
            "O cliente 1 está dentro. O coordenador cai e volta na hora, sem memória. Então o \
             cliente 2 pede.",
        ],
        scenario: ("central-forgets", 0),
        question: ["What happens to client 2?", "O que acontece com o cliente 2?"],
        options: &[
            ["It waits until client 1 leaves", "Espera até o cliente 1 sair"],
            ["It is let in at once", "É admitido na hora"],
            ["It is never answered", "Nunca recebe resposta"],
        ],
        right: 1,
        answer: [
            "The coordinator remembers nobody, so it lets client 2 in: two are inside. What must \
             not be forgotten has to be on a disk, or on several nodes.",
            "O coordenador não lembra de ninguém, e admite o cliente 2: há dois dentro. O que não \
             pode ser esquecido precisa estar num disco, ou em vários nós.",
        ],
        shown: Shown::Broken(Property::S1),
    },
    Written {
        title: ["What came first?", "O que veio antes?"],
        text: [
            "Without a coordinator, requests carry logical times, and the earlier one goes first. \
             Two processes ask at the same logical time.",
            "Sem coordenador, os pedidos levam tempos lógicos, e o mais antigo vai primeiro. Dois \
             processos pedem no mesmo tempo lógico.",
        ],
        scenario: ("ricart-agrawala-tie", 0),
        question: ["Who enters first?", "Quem entra primeiro?"],
        options: &[
            ["Both at once", "Os dois ao mesmo tempo"],
            ["Neither: each waits for the other", "Nenhum: um espera pelo outro"],
            ["The one with the smaller number", "O de menor número"],
        ],
        right: 2,
        answer: [
            "Times that are equal are told apart by the number of the node, so any two requests \
             have an order on which all agree.",
            "Tempos iguais são desempatados pelo número do nó; assim dois pedidos quaisquer têm \
             uma ordem com que todos concordam.",
        ],
        shown: Shown::Kept(Property::V2),
    },
    Written {
        title: ["One is silent", "Um se cala"],
        text: [
            "In Ricart and Agrawala's algorithm everybody must agree before somebody enters. One \
             of four processes is dead, and process 1 asks.",
            "No algoritmo de Ricart e Agrawala todos precisam concordar antes de alguém entrar. Um \
             de quatro processos está morto, e o processo 1 pede.",
        ],
        scenario: ("ricart-agrawala-silent-process", 0),
        question: ["When does process 1 enter?", "Quando o processo 1 entra?"],
        options: &[
            ["After the answers of the other two", "Depois das respostas dos outros dois"],
            ["After a time-out", "Depois de um tempo limite"],
            ["Never", "Nunca"],
        ],
        right: 2,
        answer: [
            "The dead process never answers, and silence looks the same as \"wait\". Instead of \
             one point of failure there are now n of them.",
            "O processo morto nunca responde, e o silêncio é igual a \"espere\". Em vez de um \
             ponto de falha, agora há n.",
        ],
        shown: Shown::Broken(Property::V1),
    },
    Written {
        title: ["A late message", "Uma mensagem atrasada"],
        text: [
            "Lamport's algorithm relies on links that keep messages in order. Here one does not: \
             an answer overtakes a request that was sent before it.",
            "O algoritmo de Lamport conta com canais que mantêm a ordem. Aqui um não mantém: uma \
             resposta ultrapassa um pedido enviado antes dela.",
        ],
        scenario: ("lamport-overtaking", 0),
        question: ["What comes of it?", "O que resulta disso?"],
        options: &[
            ["It only takes longer", "Só demora mais"],
            ["Two are inside at once", "Há dois dentro ao mesmo tempo"],
            ["Both wait for ever", "Os dois esperam para sempre"],
        ],
        right: 1,
        answer: [
            "The answer says \"I have seen all that you sent\", and it is not true. Every \
             assumption that an algorithm states is one that somebody will break.",
            "A resposta diz \"vi tudo que você enviou\", e não é verdade. Toda hipótese de um \
             algoritmo um dia é quebrada por alguém.",
        ],
        shown: Shown::Broken(Property::S1),
    },
    Written {
        title: ["Votes that wait for each other", "Votos que se esperam"],
        text: [
            "In Maekawa's algorithm a process needs the votes of its quorum only. Each arbiter has \
             one vote, and gives it to one process at a time. Four processes ask.",
            "No algoritmo de Maekawa um processo só precisa dos votos do seu quórum. Cada árbitro \
             tem um voto, e o dá a um processo por vez. Quatro processos pedem.",
        ],
        scenario: ("maekawa-deadlock", 0),
        question: [
            "As first printed, what comes of it?",
            "Na primeira versão impressa, o que resulta disso?",
        ],
        options: &[
            ["They enter one after the other", "Entram um depois do outro"],
            ["They wait for each other in a circle", "Esperam uns pelos outros em círculo"],
            ["Two are inside at once", "Há dois dentro ao mesmo tempo"],
        ],
        right: 1,
        answer: [
            "Each holds a vote that another needs and believes that it is next: a deadlock. \
             INQUIRE asks for a vote back, and FAILED tells who must give it; the first version \
             forgot to tell one of them.",
            "Cada um tem um voto de que outro precisa e acredita ser o próximo: um impasse. \
             INQUIRE pede um voto de volta, e FAILED diz quem deve cedê-lo; a primeira versão \
             esqueceu de avisar um deles.",
        ],
        shown: Shown::Broken(Property::V1),
    },
    Written {
        title: ["Who leads?", "Quem lidera?"],
        text: [
            "Seven processes; 7 led and is dead, and 4 notices. In the bully algorithm it asks all \
             that are greater, each of them does the same, and the greatest one announces itself.",
            "Sete processos; 7 liderava e morreu, e 4 percebe. No algoritmo valentão ele pergunta \
             a todos os maiores, cada um deles faz o mesmo, e o maior se anuncia.",
        ],
        scenario: ("bully-four-notices", 0),
        question: ["How many messages does it take?", "Quantas mensagens isso custa?"],
        options: &[["9", "9"], ["14", "14"], ["21", "21"]],
        right: 1,
        answer: [
            "4 asks 5, 6 and 7; 5 asks 6 and 7; 6 asks 7: six ELECTION. Three OK in return, and \
             five COORDINATOR: fourteen.",
            "4 pergunta a 5, 6 e 7; 5 a 6 e 7; 6 a 7: seis ELECTION. Três OK de volta, e cinco \
             COORDINATOR: quatorze.",
        ],
        shown: Shown::Messages(14),
    },
    Written {
        title: ["Dead, or only slow?", "Morto, ou só lento?"],
        text: [
            "Whoever has the token may enter. Node 1 is inside when it is paused for a long time. \
             The others hear nothing, take it for dead, and make a new token.",
            "Quem tem o token pode entrar. O nó 1 está dentro quando é pausado por muito tempo. Os \
             outros não ouvem nada, o dão por morto, e fazem um novo token.",
        ],
        scenario: ("wrong-timeout-two-tokens", 0),
        question: ["What happens when it goes on?", "O que acontece quando ele continua?"],
        options: &[
            ["It notices and steps back", "Percebe e recua"],
            ["Two are inside: split brain", "Há dois dentro: cérebro dividido"],
            ["The new token is taken back", "O novo token é recolhido"],
        ],
        right: 1,
        answer: [
            "It was never told. Nobody can tell a dead node from a slow one by waiting, whatever \
             the time-out.",
            "Ninguém o avisou. Não se distingue um nó morto de um lento esperando, seja qual for \
             o tempo limite.",
        ],
        shown: Shown::Broken(Property::S1),
    },
    Written {
        title: ["Fences", "Fencing tokens"],
        text: [
            "So let the resource itself refuse whoever is late: each entry carries a number, the \
             fence, larger than all before. Here a majority of seven coordinators lets clients \
             in, and one of them forgets.",
            "Então que o próprio recurso recuse quem chega atrasado: cada entrada leva um número, \
             o fencing token, maior que todos os anteriores. Aqui uma maioria de sete \
             coordenadores admite clientes, e um deles esquece.",
        ],
        scenario: ("quorum-c4-forgets", 0),
        question: [
            "Two are inside. Can the resource tell which of them is late?",
            "Há dois dentro. O recurso consegue saber qual está atrasado?",
        ],
        options: &[
            ["Yes: the second has the larger fence", "Sim: o segundo tem o token maior"],
            ["No: both have the same fence", "Não: os dois têm o mesmo token"],
        ],
        right: 1,
        answer: [
            "The coordinator that forgot counts from the beginning again, and both clients carry \
             the same number. A fence helps only if whoever gives it out never forgets: that is \
             why the lock service keeps it in a replicated log.",
            "O coordenador que esqueceu conta do começo outra vez, e os dois clientes levam o \
             mesmo número. O token só ajuda se quem o dá nunca esquece: por isso o serviço de travas o \
             guarda num log replicado.",
        ],
        shown: Shown::Broken(Property::F1),
    },
];
